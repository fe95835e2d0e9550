"""Making policies by learning: the nano model, its warm start, GRPO by TRL, curricula, controls, model cards."""
