"""load_arff_multilabel: variants of the format, ways to select labels, and errors."""

import bz2
import gzip
import time
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.io import arff as scipy_arff

from sklrank.datasets import _text_files, load_arff_multilabel

HEADER = """% Songs and their moods.
%  Second line.
@relation songs

@attribute tempo numeric
@ATTRIBUTE 'loud ness' {soft, 'very loud', "it's"}
@attribute calm {0, 1}
@attribute\tsad\t{0,1}

@data
"""
DENSE = HEADER + "90.5, soft, 1, 0\n% a remark\n\n?,'very loud',0,1\n-1e3,\"it's\",1,1\n"
SPARSE = HEADER + "{0 90.5, 2 1}\n{0 ?, 1 'very loud', 3 1}\n{}\n{3 1,1 'it\\'s'}\n"


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="data.arff"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def test_dense(write):
    bunch = load_arff_multilabel(write(DENSE), labels=-2)
    assert_array_equal(bunch.data, [[90.5, 0], [np.nan, 1], [-1000, 2]])
    assert bunch.data.dtype == np.float64
    assert_array_equal(bunch.target, [[1, 0], [0, 1], [1, 1]])
    assert bunch.target.dtype == np.int64
    assert bunch.feature_names == ["tempo", "loud ness"]
    assert bunch.target_names == ["calm", "sad"]
    assert bunch.categories == {"loud ness": ["soft", "very loud", "it's"]}
    assert bunch.omitted_names == []
    assert bunch.DESCR == "songs\nSongs and their moods.\nSecond line."


def test_a_declared_question_mark(write):
    """In quotes, it is the value, as in Weka; without, a value is missing."""
    text = "@relation r\n@attribute a {?, b}\n@attribute c {0, 1}\n@attribute d {0, 1}\n@data\n"
    bunch = load_arff_multilabel(write(text + "'?',0,1\n?,0,1\nb,1,0\n"), labels=-2)
    assert_array_equal(bunch.data, [[0], [np.nan], [1]])
    bunch = load_arff_multilabel(write(text + "{0 '?',2 1}\n{0 ?,2 1}\n{0 b,1 1}\n"), labels=-2)
    assert_array_equal(bunch.data.toarray(), [[0], [np.nan], [1]])


@pytest.mark.parametrize("text", [DENSE, SPARSE])
def test_weights_of_rows(write, text):
    """Weka writes them in braces at the ends of rows."""
    lines = text.splitlines()
    lines[-1] += " , { 0.5}"
    lines[10] += ",{3}"
    bunch = load_arff_multilabel(write("\n".join(lines)), labels=-2)
    plain = load_arff_multilabel(write(text), labels=-2)
    n_rows = len(plain.target)
    assert_array_equal(bunch.sample_weight, [3, *[1] * (n_rows - 2), 0.5])
    assert plain.sample_weight is None
    assert_array_equal(*(each.target for each in (bunch, plain)))
    assert_array_equal(
        *(each.data.toarray() if text is SPARSE else each.data for each in (bunch, plain))
    )
    with pytest.warns(UserWarning, match="data.arff has weights of rows, which return_X_y=True"):
        load_arff_multilabel(write("\n".join(lines)), labels=-2, return_X_y=True)
    for weight in ("-1", "x", "nan", "inf", ""):
        lines[10] = text.splitlines()[10] + f",{{{weight}}}"
        with pytest.raises(ValueError, match=r"data.arff, line 11: the weight .* 0 or more"):
            load_arff_multilabel(write("\n".join(lines)), labels=-2)


def test_xml_with_fewer_labels_than_the_relation(write):
    """The others would be features, which tell the labels."""
    xml = write("<labels><label name='sad'/></labels>", "labels.xml")
    for option in ("-C -2", "-C 2"):
        relation = DENSE.replace("@relation songs", f"@relation 'songs: {option}'")
        with pytest.raises(ValueError, match=r"labels.xml' names 1 labels, and the relation .* 2"):
            load_arff_multilabel(write(relation), xml=xml)
    assert load_arff_multilabel(write(relation), labels=["sad"]).target_names == ["sad"]


def test_sparse(write):
    bunch = load_arff_multilabel(write(SPARSE), labels=["calm", "sad"])
    assert sparse.issparse(bunch.data) and bunch.data.format == "csr"
    assert bunch.data.has_sorted_indices and bunch.data.dtype == np.float64
    assert_array_equal(bunch.data.toarray(), [[90.5, 0], [np.nan, 1], [0, 0], [0, 2]])
    assert_array_equal(bunch.target, [[1, 0], [0, 1], [0, 0], [0, 1]])


@pytest.mark.parametrize("text", [DENSE, SPARSE])
@pytest.mark.parametrize("wanted", [True, False])
def test_sparse_option_overrides_the_file(write, text, wanted):
    path = write(text)
    natural = load_arff_multilabel(path, labels=-2).data
    data, target = load_arff_multilabel(path, labels=-2, sparse=wanted, return_X_y=True)
    assert sparse.issparse(data) == wanted
    dense = [x.toarray() if sparse.issparse(x) else x for x in (natural, data)]
    assert_array_equal(*dense)
    assert isinstance(target, np.ndarray)


def test_gzip_with_any_name(tmp_path, write):
    path = tmp_path / "no_suffix"
    path.write_bytes(gzip.compress(DENSE.encode()))
    packed, plain = (load_arff_multilabel(p, labels=-2) for p in (str(path), write(DENSE)))
    assert_array_equal(packed.data, plain.data)
    assert_array_equal(packed.target, plain.target)


def test_text_attributes_are_left_out(write):
    text = (
        "@relation r\n@attribute id string\n@attribute x real\n@attribute day date 'yyyy'\n"
        "@attribute a {0,1}\n@data\n'a, \\'b\\'', 1, '1999', 1\nplain, 2, ?, 0\n"
    )
    bunch = load_arff_multilabel(write(text), labels=["a"])
    assert bunch.omitted_names == ["id", "day"]
    assert bunch.feature_names == ["x"]
    assert_array_equal(bunch.data, [[1], [2]])


def test_other_encodings(tmp_path):
    path = tmp_path / "latin.arff"
    path.write_bytes(DENSE.replace("tempo", "témpo").encode("latin-1"))
    assert load_arff_multilabel(path, labels=-2, encoding="latin-1").feature_names[0] == "témpo"
    with pytest.raises(ValueError, match="not encoded in 'utf-8'.*pass its encoding"):
        load_arff_multilabel(path, labels=-2)


def test_file_without_rows(write):
    bunch = load_arff_multilabel(write(HEADER), labels=-2)
    assert bunch.data.shape == (0, 2) and bunch.target.shape == (0, 2)


# --- selection of labels


@pytest.mark.parametrize(
    "option, names",
    [("-C 2", ["a", "b"]), ("-C -2", ["c", "d"]), ("-C 1 -split-number 3", ["a"])],
)
def test_meka_header_and_integer_labels(write, option, names):
    attributes = "".join(f"@attribute {name} {{0,1}}\n" for name in "abcd")
    rows = "@data\n0,0,1,1\n"
    by_header = load_arff_multilabel(write(f"@relation 'x: {option}'\n{attributes}{rows}"))
    n_labels = int(option.split()[1])
    by_integer = load_arff_multilabel(write(f"@relation x\n{attributes}{rows}"), labels=n_labels)
    assert by_header.target_names == by_integer.target_names == names
    assert_array_equal(by_header.target, by_integer.target)


def test_labels_override_the_header(write):
    text = DENSE.replace("songs", "'songs: -C -1'")
    assert load_arff_multilabel(write(text)).target_names == ["sad"]
    assert load_arff_multilabel(write(text), labels=["sad", "calm"]).target_names == ["sad", "calm"]


@pytest.mark.parametrize("namespace", [' xmlns="http://mulan.sourceforge.net/labels"', ""])
def test_hierarchical_xml(write, namespace):
    xml = write(
        f'<?xml version="1.0"?><labels{namespace}><label name="sad"><label name="calm"/></label>'
        "</labels>",
        "labels.xml",
    )
    bunch = load_arff_multilabel(write(DENSE), xml=xml)
    assert bunch.target_names == ["calm", "sad"]  # the order of the attributes, as in MULAN
    assert bunch.feature_names == ["tempo", "loud ness"]


@pytest.mark.parametrize(
    "declared, rows, expected",
    [
        ("{false,true}", "true false", [1, 0]),
        ("{TRUE,FALSE}", "TRUE FALSE", [1, 0]),
        ("{1,0}", "1 0", [1, 0]),
        ("{1}", "1 1", [1, 1]),
        ("{no, yes}", "yes no", [1, 0]),
        ("{0.0,1.0}", "1.0 0.0", [1, 0]),
        ("numeric", "1 0.0", [1, 0]),
    ],
)
def test_binary_spellings(write, declared, rows, expected):
    data = "\n".join(f"7, {value}" for value in rows.split())
    text = f"@relation r\n@attribute x real\n@attribute a {declared}\n@data\n{data}"
    assert_array_equal(load_arff_multilabel(write(text), labels=["a"]).target[:, 0], expected)


def test_sparse_row_without_a_label_means_its_first_value(write):
    text = "@relation r\n@attribute x real\n@attribute a {1,0}\n@data\n{0 7}\n{1 0}\n"
    assert_array_equal(load_arff_multilabel(write(text), labels=["a"]).target, [[1], [0]])


# --- errors


@pytest.mark.parametrize(
    "row, line, problem",
    [
        ("1,soft,0", 11, "3 values for 4 attributes"),
        ("1,soft,0,1,", 11, "5 values for 4 attributes"),
        ("one,soft,0,1", 11, "'tempo' is numeric, got 'one'"),
        (",soft,0,1", 11, "'tempo' is numeric, got ''"),
        ("1,silent,0,1", 11, "'loud ness' has the values {soft, very loud, it's}, got 'silent'"),
        ("1,soft,0,2", 11, "'sad' has the values {0, 1}, got '2'"),
        ("1,'soft,0,1", 11, "quotation mark is not closed"),
        ("1,so'ft',0,1", 11, "quotation mark"),
        ("1,soft,0,0\n{0 1}", 12, "dense and sparse rows"),
        ("{0 1}\n1,soft,0,0", 12, "dense and sparse rows"),
        ("{0 1}\n{0 one}", 12, "'tempo' is numeric, got 'one'"),
        ("{4 1}", 11, "index 4 but only 4 attributes"),
        ("{0 1, 0 2}", 11, "an index is given twice"),
        ("{0 1, x 2}", 11, "expected 'index value' pairs, got 'x 2'"),
        ("{0 1}, {x}", 11, "the weight {x} of the row must be a number"),
        ("{0 1", 11, "must end with '}'"),
        ("1e999,soft,0,1", 11, "got '1e999': numbers must be finite, or ? if they are missing"),
        ("1,soft,0,1\n\n-inf,soft,0,1\n2,soft,0,1", 13, "numbers must be finite"),
        ("{3 1}\n{2 1, 0 Infinity}\n{0 1}", 12, "numbers must be finite"),
        ("1_0,soft,0,1", 11, "'tempo' is numeric, got '1_0'"),
        ("{0 1_0}", 11, "'tempo' is numeric, got '1_0'"),
        ("{0000000000000000000 1}", 11, "expected 'index value' pairs"),
    ],
)
def test_errors_of_malformed_rows_name_the_line(write, row, line, problem):
    with pytest.raises(ValueError) as info:
        load_arff_multilabel(write(HEADER + row), labels=-2)
    message = str(info.value)
    assert f"data.arff, line {line}: " in message
    assert problem in message


@pytest.mark.parametrize(
    "text, problem",
    [
        ("", "line 0: the file ends without an @data line"),
        ("@relation r\n@data\n1", "line 2: @data comes before any @attribute"),
        ("@relation r\n@attribute a real\n@attribute a real\n@data", "line 3: .*declared twice"),
        ("@attribute a relational\n@data", "line 1: attribute 'a' has the type 'relational'"),
        ("@attribute a ranking {b}\n@data", "line 1: attribute 'a' has the type 'ranking {b}'"),
        ("@attribute a\n@data", "line 1: attribute 'a' has the type ''"),
        ("@attribute\n@data", "line 1: @attribute needs a name"),
        ("@attribute 'a real\n@data", 'line 1: .* quotation mark .* got "\'a real"'),
        ("@attribute \"a' real\n@data", "line 1: .* quotation mark"),
        ("@attribute a {'b,c}\n@data", "line 1: a quotation mark is not closed"),
        ("@relation 'r\n@attribute a real\n@data", "line 1: a quotation mark is not closed"),
        ("1,2,3", "line 1: expected @relation, @attribute or @data, got '1,2,3'"),
    ],
)
def test_malformed_headers(write, text, problem):
    with pytest.raises(ValueError, match=problem):
        load_arff_multilabel(write(text), labels=1)


@pytest.mark.parametrize(
    "labels, problem",
    [
        (None, "labels is None and the relation 'songs' has no option '-C'"),
        (0, "labels must be a number from 1 to 3"),
        (4, "labels must be .* for a file of 4 columns, or names; got 4"),
        (-4, "got -4"),
        (True, "labels must be an integer or a list of names, got True"),
        ("calm", "list of names, got 'calm'"),
        ({"calm", "sad"}, "list of names, got"),
        (1.5, "labels must be an integer or a list of names, got 1.5"),
        (b"calm", "list of names, got"),
        ([1], r"list of names, got \[1\]"),
        ([["calm"]], "list of names, got"),
        (np.array(2.0), "list of names, got"),
        ([], "at least one label"),
        (["calm", "calm"], "each once"),
        (["calm", "glad"], "labels names 1 column.* that the file does not have, such as 'glad'"),
        (2, "label 'tempo' is not binary: it is numeric.*labels=-6"),
        (["loud ness"], "label 'loud ness' is not binary: its values are {soft, very loud"),
    ],
)
def test_wrong_labels(write, labels, problem):
    with pytest.raises(ValueError, match=problem):
        load_arff_multilabel(write(DENSE), labels=labels)


def test_missing_label_value(write):
    with pytest.raises(ValueError, match="label 'sad' is missing in 1 row.*first in row 3"):
        load_arff_multilabel(write(DENSE + "1,soft,0,?"), labels=-2)


@pytest.mark.parametrize(
    "xml, problem",
    [
        ("<labels>", "not well-formed"),
        ("<?xml version='1.0' encoding='nope'?><labels/>", "not well-formed"),
        ("<labels/>", "got 0 label elements"),
        ("<labels><label/></labels>", "1 of them without a name"),
        ("<labels><label name='glad'/></labels>", "labels.xml' names 1 column.*'glad'"),
        ("<labels><label name='sad'/><label name='sad'/></labels>", "each once"),
    ],
)
def test_wrong_xml(write, xml, problem):
    with pytest.raises(ValueError, match=problem):
        load_arff_multilabel(write(DENSE), xml=write(xml, "labels.xml"))


def test_wrong_options(write):
    with pytest.raises(ValueError, match="labels and xml both"):
        load_arff_multilabel(write(DENSE), labels=2, xml="labels.xml")
    with pytest.raises(ValueError, match="sparse must be 'auto', True or False, got 'yes'"):
        load_arff_multilabel(write(DENSE), labels=2, sparse="yes")
    with pytest.raises(FileNotFoundError):
        load_arff_multilabel("nowhere.arff", labels=2)


@pytest.mark.parametrize("encoding", ["nope", "hex", None, 3, "utf-8\0"])
def test_unknown_encodings(write, encoding):
    with pytest.raises(ValueError, match="encoding must be the name of a text encoding, .* got"):
        load_arff_multilabel(write(DENSE), labels=-2, encoding=encoding)


def test_bytes_that_cannot_be_decoded(tmp_path):
    path = tmp_path / "data.arff"
    path.write_bytes((DENSE + "1,soft,0,0\n" * 3000).encode() + b"% \xff")
    with pytest.raises(ValueError, match=r"data.arff is not encoded in 'utf-8' after line \d{3,}"):
        load_arff_multilabel(path, labels=-2)
    with pytest.raises(ValueError, match="data.arff is not encoded in 'utf-16' .*BOM"):
        load_arff_multilabel(path, labels=-2, encoding="utf-16")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_damaged_files(tmp_path, compress):
    packed = compress((DENSE + "1,soft,0,0\n" * 3000).encode())
    path = tmp_path / "data.arff"
    for damaged in (packed[:-9], packed[:50], packed[:40] + b"\xff" * 40 + packed[80:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="data.arff is damaged: "):
            load_arff_multilabel(path, labels=-2)


def test_text_that_starts_as_bzip2(write):
    with pytest.raises(ValueError, match="data.arff is damaged: Invalid data stream"):
        load_arff_multilabel(write("BZh91AY\n" + DENSE), labels=-2)


def test_nul_bytes(write):
    with pytest.raises(ValueError, match="line 2: a NUL byte"):
        load_arff_multilabel(write("@relation a\n@attribute b {\0}\n"), labels=-2)


def test_arrays_that_would_not_fit_into_memory(write, monkeypatch):
    monkeypatch.setattr(_text_files, "MAX_ENTRIES", 1000)
    header = "".join(f"@attribute a{i} numeric\n" for i in range(3001))
    path = write(f"@relation wide\n{header}@data\n" + "{0 1, 3000 1}\n" * 100)
    assert load_arff_multilabel(path, labels=-1).data.shape == (100, 3000)
    with pytest.raises(ValueError, match="100 rows and 3000 columns.* pass sparse=True"):
        load_arff_multilabel(path, labels=-1, sparse=False)
    with pytest.raises(ValueError, match="100 rows and 3000 columns.* check that labels"):
        load_arff_multilabel(path, labels=-3000)


# --- properties

NUMBERS = st.floats(allow_nan=True, allow_infinity=False)
NAMES = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=8
).filter(lambda name: name.strip() == name)


def quote(name):
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


@st.composite
def data_sets(draw):
    n_rows, n_features, n_labels = (draw(st.integers(low, 4)) for low in (0, 1, 1))
    data = draw(hnp.arrays(np.float64, (n_rows, n_features), elements=NUMBERS | st.just(0.0)))
    target = draw(hnp.arrays(np.int64, (n_rows, n_labels), elements=st.integers(0, 1)))
    n_names = n_features + n_labels
    return data, target, draw(st.lists(NAMES, min_size=n_names, max_size=n_names, unique=True))


def as_arff(data, target, names, is_sparse):
    kinds = ["numeric"] * data.shape[1] + ["{0,1}"] * target.shape[1]
    lines = ["@relation 'a set'"]
    lines += [f"@attribute {quote(name)} {kind}" for name, kind in zip(names, kinds)]
    lines.append("@data")
    for features, labels in zip(data.tolist(), target.tolist()):
        texts = ["?" if value != value else repr(value) for value in features] + labels
        if is_sparse:
            pairs = [f"{i} {text}" for i, text in enumerate(texts) if text not in (0, "0.0")]
            lines.append("{" + ", ".join(pairs) + "}")
        else:
            lines.append(",".join(map(str, texts)))
    return "\n".join(lines)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data_set=data_sets(), is_sparse=st.booleans(), is_packed=st.booleans())
def test_round_trip(tmp_path, data_set, is_sparse, is_packed):
    data, target, names = data_set
    path = tmp_path / "set.arff"
    text = as_arff(data, target, names, is_sparse).encode()
    path.write_bytes(gzip.compress(text) if is_packed else text)

    bunch = load_arff_multilabel(path, labels=-target.shape[1], sparse=False)
    assert_array_equal(bunch.data, data)
    assert_array_equal(bunch.target, target)
    assert bunch.feature_names + bunch.target_names == names


def test_agrees_with_scipy_on_dense_files(write, tmp_path):
    rng = np.random.default_rng(0)
    data, target = rng.standard_normal((50, 4)), rng.integers(0, 2, (50, 3))
    path = write(as_arff(data, target, list("abcdxyz"), is_sparse=False))
    records, _ = scipy_arff.loadarff(path)
    bunch = load_arff_multilabel(path, labels=-3)
    columns = [records[name] for name in records.dtype.names]
    assert_array_equal(bunch.data, np.column_stack(columns[:4]))
    assert_array_equal(bunch.target, np.column_stack(columns[4:]) == b"1")


def test_byte_order_mark(write):
    path = write(DENSE)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_arff_multilabel(path, labels=-2).data.shape == (3, 2)


BLANKS = " " * 200_000
LONG_RUNS = {
    "name": f"@attribute {BLANKS}a{BLANKS}real\n@attribute b {{0,1}}\n@data\n1,0",
    "name only": f"@attribute {BLANKS}'a",
    "declared values": f"@attribute a {{{BLANKS}'x'{BLANKS},{BLANKS}y y{BLANKS}}}\n"
    "@attribute b {0,1}\n@data\ny y,0",
    "bad declared values": f"@attribute a {{'x',{BLANKS}b'c}}\n",
    "value": f"@attribute a real\n@attribute b {{0,1}}\n@data\n1{BLANKS},{BLANKS}'0'",
    "bad value": f"@attribute a real\n@attribute b {{0,1}}\n@data\n1,{BLANKS}b'c",
    "value after quotation": f"@attribute a real\n@attribute b {{0,1}}\n@data\n'1'{BLANKS}2,0",
    "words": f"@attribute a real\n@attribute b {{0,1}}\n@data\n{'x ' * 100_000}'1',0",
    "pair": f"@attribute a real\n@attribute b {{0,1}}\n@data\n{{0{BLANKS}1,{BLANKS}1{BLANKS}'0'}}",
    "bad pair": f"@attribute a real\n@attribute b {{0,1}}\n@data\n{{0{BLANKS}b'c}}",
    "bad index": f"@attribute a real\n@attribute b {{0,1}}\n@data\n{{0 1,{BLANKS}x}}",
    "option": f"@relation 'r -C{BLANKS}x'\n@attribute a {{0,1}}\n@attribute b {{0,1}}\n@data\n1,0",
}


@pytest.mark.parametrize("name", LONG_RUNS)
def test_long_white_space(write, name):
    """Files with long runs of blanks are read, or refused, in linear time."""
    labels = None if name == "option" else -1
    start = time.process_time()
    with suppress(ValueError):
        load_arff_multilabel(write(LONG_RUNS[name]), labels=labels)
    # It takes some milliseconds. Quadratic time would be minutes.
    assert time.process_time() - start < 5


def test_long_lines_and_numbers(write, monkeypatch):
    path = write(DENSE.replace("@relation songs", f"@relation 'songs: -C {'9' * 5000}'"))
    with pytest.raises(ValueError, match="has no option '-C'"):
        load_arff_multilabel(path)
    path = write(DENSE + "9" * 2000)
    monkeypatch.setattr(_text_files, "MAX_LINE", 1000)
    with pytest.raises(ValueError, match="line 16: it has more than 1000 characters"):
        load_arff_multilabel(path, labels=-2)
