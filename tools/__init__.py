"""What a developer runs by hand: differential tests, mutants."""
