"""`./podium manage verify_audit`: checks the chains of the audit log, and keeps their heads for the next time."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.audit import checking


class Command(BaseCommand):
    help = "Checks that nobody has changed, removed or cut off entries of the audit log."

    def add_arguments(self, parser: CommandParser) -> None:
        words = "file of heads: those kept in it must still be there, then it gets the present ones. Keep it elsewhere."
        parser.add_argument("--heads", type=Path, metavar="FILE", help=words)

    def handle(self, *args: Any, heads: Path | None = None, **options: Any) -> None:
        wrong = checking.faults()
        if heads and heads.exists():
            wrong += checking.cut(json.loads(heads.read_text()))
        for fault in wrong:
            self.stderr.write(f"{fault.chain} {fault.place}: {fault.what}")
        if wrong:
            raise CommandError(f"The audit log was tampered with: {len(wrong)} faults.")
        present = checking.heads()
        if heads:
            heads.write_text(json.dumps(present, indent=1))
        self.stdout.write(f"The audit log is whole: {len(present)} chains.")
