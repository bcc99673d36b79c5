"""Online linear learners: logistic and ridge regression, and their feature map."""
