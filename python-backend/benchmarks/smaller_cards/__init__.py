"""A large GPU made small."""
