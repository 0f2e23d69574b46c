"""Trainers stopped in every possible way, and what they leave behind."""
