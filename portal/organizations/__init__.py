"""Tenants: organizations, their projects, their members and roles."""
