// What is answered piece by piece for as long as it takes, and so is no operation: what it is asked with.
import { exportInput } from "../export/exports.js";
import { tailInput } from "../reading/tail/tail-query.js";

export const streams = { tail: { input: tailInput }, export: { input: exportInput } };
