"""What came of it: playing the matrix of incidents and policies; numbers, pictures and pages from a run folder."""
