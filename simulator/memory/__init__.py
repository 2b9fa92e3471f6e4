"""What lies where and when: bytes of every tile by category over the steps of the schedule, and what does not fit."""
