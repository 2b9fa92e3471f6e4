"""Settings of the portal, read from the environment only; it decides no ports and starts nothing (portal.ops does)."""

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
PODIUM_HOME = Path(os.environ.get("PODIUM_HOME") or BASE_DIR / ".podium").resolve()
PODIUM_ENV = os.environ.get("PODIUM_ENV") or "embedded"
PODIUM_URL = (os.environ.get("PODIUM_URL") or "http://127.0.0.1:8000").rstrip("/")
PODIUM_MAIL = os.environ.get("PODIUM_MAIL") or "outbox"
REDIS_URL = os.environ.get("REDIS_URL") or "redis://127.0.0.1:6379/0"
EMBEDDED = PODIUM_ENV in {"embedded", "test"}
SECURE = PODIUM_URL.startswith("https://")
DEBUG = False

if PODIUM_ENV not in {"embedded", "production", "test"}:
    raise ImproperlyConfigured(f"PODIUM_ENV is {PODIUM_ENV!r}: set it to embedded, production or test.")


def _secret_key() -> str:
    """The key given, else the one kept by the launcher; tools that serve nobody (type checks) get one for this run."""
    kept = PODIUM_HOME / "secret"
    key = os.environ.get("PODIUM_SECRET_KEY") or (kept.read_text().strip() if os.access(kept, os.R_OK) else "")
    if PODIUM_ENV == "production" and len(key) < 40:
        raise ImproperlyConfigured("PODIUM_SECRET_KEY is missing or short: set 40 or more random characters.")
    return key or secrets.token_urlsafe(50)


def _database(url: str, **extra: Any) -> dict[str, Any]:
    """postgresql://user:password@host:port/name, or with ?host=/socket/folder."""
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(
            "DATABASE_URL, DATABASE_APP_URL and DATABASE_SYSTEM_URL must be postgresql:// addresses."
        )
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "podium",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", "") or unquote(parts.hostname or ""),
        "PORT": str(parts.port or options.pop("port", "")),
        "OPTIONS": {**options, **extra},
        "CONN_MAX_AGE": 0 if "pool" in extra else 60,
        "CONN_HEALTH_CHECKS": True,  # in a pool too: the database may have been killed and come back
    }


SECRET_KEY = _secret_key()

# Three roles of PostgreSQL: the web and user-side code (forced row-level security), the system side (ticker, hub,
# scheduler, worker reports; explicit policies), and the owner, which only migrates: `manage.py migrate` uses it by
# itself.
_OWNER_URL = os.environ.get("DATABASE_URL") or "postgresql://podium_owner@127.0.0.1:5432/podium"
_APP_URL = os.environ.get("DATABASE_APP_URL") or "postgresql://podium_app@127.0.0.1:5432/podium"
_SYSTEM_URL = os.environ.get("DATABASE_SYSTEM_URL") or "postgresql://podium_system@127.0.0.1:5432/podium"
# The web process answers each request in a thread of its own, so its connections come from a pool (asgi.py asks for
# it); forked workers keep one connection each.
_POOL: dict[str, Any] = (
    {"pool": {"min_size": 1, "max_size": 12, "timeout": 10}} if os.environ.get("PODIUM_DB_POOL") == "1" else {}
)
_LIMITS = "-c statement_timeout=30000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000"
DATABASES = {
    "default": _database(_APP_URL, options=_LIMITS, **_POOL),
    "system": _database(_SYSTEM_URL, **_POOL),
    "owner": _database(_OWNER_URL),
}
DATABASE_ROUTERS = ["portal.tenancy.router.TenancyRouter"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "portal.tenancy",
    "portal.http",
    "portal.live",
    "portal.audit",
    "portal.accounts",
    "portal.organizations",
    "portal.credits",
    "portal.tokens",
    "portal.pods",
    "portal.registry",
    "portal.reservations",
    "portal.jobs",
    "portal.benchmarks",
    "portal.ticker",
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.headless",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]

MIDDLEWARE = [
    "portal.http.middleware.request_identity",
    "portal.audit.origin.note_origin",
    "portal.http.middleware.security_headers",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
ROOT_URLCONF = "portal.urls"
ASGI_APPLICATION = "portal.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "portal" / "accounts" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
    }
]

LANGUAGE_CODE = "en"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# Files
STATIC_URL = "/static/"
STATIC_ROOT = PODIUM_HOME / "static"
FRONTEND_DIST = BASE_DIR / "frontend" / "dist"
# Tests of the portal do not look at the front end, which may be under construction beside them.
WHITENOISE_ROOT = FRONTEND_DIST if FRONTEND_DIST.is_dir() and PODIUM_ENV != "test" else None
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/assets/.+"
UPLOAD_MAX_BYTES = int(os.environ.get("PODIUM_UPLOAD_MAX_BYTES") or 2 * 1024**3)
UPLOAD_PART_BYTES = 8 * 1024**2
REQUEST_MAX_BYTES = UPLOAD_PART_BYTES + 64 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024**2

# What one attempt at a job may take of a worker, and how long its silence is borne.
PODIUM_JOB_WALL_SECONDS = int(os.environ.get("PODIUM_JOB_WALL_SECONDS") or 3600)
PODIUM_LEASE_SECONDS = float(os.environ.get("PODIUM_LEASE_SECONDS") or 15)
PODIUM_CHECKPOINT_SECONDS = float(os.environ.get("PODIUM_CHECKPOINT_SECONDS") or 15)
# Whose job is next: use of slots counts half after a half-life; 0 sets no limit to jobs that run at once; after a turn
# a training run gives its slot to others that wait and goes on from its checkpoint later.
PODIUM_USAGE_HALF_LIFE_SECONDS = float(os.environ.get("PODIUM_USAGE_HALF_LIFE_SECONDS") or 24 * 3600)
PODIUM_PERSON_SLOTS = int(os.environ.get("PODIUM_PERSON_SLOTS") or 0)
PODIUM_ORGANIZATION_SLOTS = int(os.environ.get("PODIUM_ORGANIZATION_SLOTS") or 0)
PODIUM_TURN_SECONDS = float(os.environ.get("PODIUM_TURN_SECONDS") or 300)
PODIUM_QUEUE_SECONDS = float(os.environ.get("PODIUM_QUEUE_SECONDS") or 7 * 24 * 3600)
PODIUM_RUN_MEMORY_BYTES = int(os.environ.get("PODIUM_RUN_MEMORY_BYTES") or 6 * 1024**3)

# Hosts, cookies, headers. Cookies know no port, so two checkouts on one machine need names of their own.
_HOST = urlsplit(PODIUM_URL)
ALLOWED_HOSTS = sorted(
    {"127.0.0.1", "localhost", "[::1]", _HOST.hostname or "localhost"}
    | {host.strip() for host in os.environ.get("PODIUM_ALLOWED_HOSTS", "").split(",") if host.strip()}
)
if PODIUM_ENV == "production" and "*" in ALLOWED_HOSTS:
    raise ImproperlyConfigured("PODIUM_ALLOWED_HOSTS may not be * in production: list the names people use.")
SESSION_COOKIE_NAME = f"{'__Host-' if SECURE else ''}podium_session_{_HOST.port or _HOST.scheme}"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_TRUSTED_ORIGINS = [PODIUM_URL]
CSRF_FAILURE_VIEW = "portal.http.views.csrf_failure"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# People
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_SIGNUP_FORM_CLASS = "portal.accounts.forms.SignupForm"
ACCOUNT_ADAPTER = "portal.accounts.adapter.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
# Only in the browser that signed up: a link opened elsewhere confirms, and leaves signing in to the person.
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_DEFAULT_HTTP_PROTOCOL = _HOST.scheme
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
HEADLESS_ONLY = True
HEADLESS_CLIENTS = ("browser",)
HEADLESS_FRONTEND_URLS = {
    "account_confirm_email": f"{PODIUM_URL}/confirm/{{key}}",
    "account_reset_password": f"{PODIUM_URL}/reset-password",
    "account_reset_password_from_key": f"{PODIUM_URL}/reset-password/{{key}}",
    "account_signup": f"{PODIUM_URL}/signup",
}
SIGNUP_GRANT_MICROCREDITS = int(os.environ.get("PODIUM_SIGNUP_GRANT_MICROCREDITS") or 1_000_000_000)

# Mail
DEFAULT_FROM_EMAIL = os.environ.get("PODIUM_MAIL_FROM") or f"Podium <podium@{_HOST.hostname or 'localhost'}>"
OUTBOX = PODIUM_MAIL == "outbox" and EMBEDDED
if PODIUM_MAIL == "outbox":
    if not EMBEDDED:
        raise ImproperlyConfigured("PODIUM_MAIL is missing: in production set it to smtp://user:password@host:port.")
    EMAIL_BACKEND = "portal.accounts.outbox.OutboxBackend"
else:
    _mail = urlsplit(PODIUM_MAIL)
    EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    EMAIL_HOST, EMAIL_PORT = _mail.hostname or "localhost", _mail.port or 25
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = unquote(_mail.username or ""), unquote(_mail.password or "")
    EMAIL_USE_TLS = _mail.scheme == "smtp+tls"
    EMAIL_USE_SSL = _mail.scheme == "smtps"
    EMAIL_TIMEOUT = 10

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "podium",
        "OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2},
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "portal.tokens.authentication.TokenAuthentication",
        "portal.organizations.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["portal.http.permissions.ScopePermission"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_PAGINATION_CLASS": "portal.http.pagination.CursorPage",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_CLASSES": ["portal.http.throttling.PersonThrottle", "portal.http.throttling.AddressThrottle"],
    "DEFAULT_THROTTLE_RATES": {"person": "1800/min", "address": "900/min"},
    "EXCEPTION_HANDLER": "portal.errors.handler.problem_response",
    "NUM_PROXIES": 0,
    "UNAUTHENTICATED_USER": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Podium",
    "DESCRIPTION": "A developer cloud for Graphcore IPU systems, simulated. "
    "Times are ISO-8601 UTC, credits are integer micro-credits.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "SERVE_PUBLIC": True,
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "ENUM_NAME_OVERRIDES": {
        "ScopesEnum": "portal.tokens.scopes.SCOPES",
        "RoleEnum": ["owner", "admin", "member", "viewer"],
    },
    "GET_LIB_DOC_EXCLUDES": "portal.http.schema.library_docs",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "portal.http.schema.add_problem_responses",
    ],
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request": {"()": "portal.http.middleware.RequestFilter"}},
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["request"]}},
    "root": {"handlers": ["stderr"], "level": os.environ.get("PODIUM_LOG_LEVEL") or "INFO"},
    "loggers": {"django.request": {"level": "ERROR"}, "django.security.DisallowedHost": {"level": "CRITICAL"}},
}
