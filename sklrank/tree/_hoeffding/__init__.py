"""Hoeffding trees."""
