"""People and their sign-in (django-allauth, headless). What they may reach is the business of organizations."""
