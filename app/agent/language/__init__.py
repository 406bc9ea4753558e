"""Read requests in everyday language as pipelines of steps over sets of notes, without a language model."""
