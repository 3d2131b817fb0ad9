"""Schedules: which commands run at once, in which memory, and how that shows."""
