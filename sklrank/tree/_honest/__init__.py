"""Honest trees and forests, and trees whose levels share a split."""
