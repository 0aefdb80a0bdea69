"""What is right: pure functions of values. No async, no clock, no socket, no Faust."""
