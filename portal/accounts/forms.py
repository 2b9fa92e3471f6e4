"""The field that sign-up has beyond allauth's own."""

from typing import Any

from django import forms
from django.http import HttpRequest


class SignupForm(forms.Form):
    """Adds the person's name; allauth merges this into its form."""

    name = forms.CharField(max_length=120, required=False)

    def signup(self, request: HttpRequest, user: Any) -> None:
        user.name = self.cleaned_data.get("name", "").strip()
        user.save(update_fields=["name"])
