"""The layouts in which published run configurations are written, one file a family of models."""
