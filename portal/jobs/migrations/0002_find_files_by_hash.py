"""Checkpoints and artefacts are found by hash, to know whether a file is still needed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0001_jobs_attempts_and_events"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="artefact",
            index=models.Index(fields=["sha256"], name="jobs_artefact_file"),
        ),
        migrations.AddIndex(
            model_name="checkpoint",
            index=models.Index(fields=["sha256"], name="jobs_checkpoint_file"),
        ),
    ]
