"""Fakes of every port, for tests of tidegate and of its users."""
