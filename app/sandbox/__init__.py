"""Run programs without a shell, with limits on time and output, in a sandbox if there is one."""
