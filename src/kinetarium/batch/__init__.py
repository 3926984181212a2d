"""Many cases of a study: run apart from each other, kept as they finish, resumed."""
