"""Trainers stopped in every way there is, and what they leave behind."""
