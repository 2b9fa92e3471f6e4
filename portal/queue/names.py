"""Names of the tasks that workers know, and the queue of each."""

INSPECT_MODEL = "registry.inspect_model"
ESTIMATE = "jobs.estimate"
RUN_ATTEMPT = "jobs.run_attempt"

ROUTES = {INSPECT_MODEL: "inspect", ESTIMATE: "estimate", RUN_ATTEMPT: "run"}
