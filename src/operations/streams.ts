// What is answered piece by piece for as long as it takes, and so is no operation: what it is asked with.
import { exportInput } from "../export/exports.js";
import { SHARE_POLICY } from "../export/share/page.js";
import { tailInput } from "../reading/tail/tail-query.js";

export const streams = { tail: { input: tailInput }, export: { input: exportInput } };

/** What a browser that is given an export as HTML may do. */
export const sharePolicy = SHARE_POLICY;
