"""What every HTTP endpoint shares: the view base, permissions, pages, idempotency, headers, schema.

It knows no app's rows.
"""
