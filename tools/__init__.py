"""Commands for those who work on Licet itself; none of them is installed."""
