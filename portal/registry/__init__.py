"""Models that people upload: resumable uploads, inspection, summary or refusal. It never opens a model file itself."""
