// The examples of the documentation. A test sends them, so that none of them can be wrong.

export const exampleId = "turn-1";

export const exampleMemory = {
  id: "ports",
  status: "candidate",
  source: "person",
  type: "project",
  project: "atlas",
  content: "The server of atlas listens on port 4747",
};

/** Beside the one above; a test that runs all examples has these waiting. */
export const exampleCandidates = ["indent", "units"] as const;
