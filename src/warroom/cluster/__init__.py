"""Work on several machines by Ray: the cluster, its workers, and what each of them plays next.

Nothing here knows what a task is: `evals` plays episodes with it and `train` plays rollouts.
"""
