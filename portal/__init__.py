"""The Django project and its apps. Imports nothing: the launcher (portal.ops) runs before Django is there."""
