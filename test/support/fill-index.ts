// Filling an index in a test, as the conformance suite does.
export { fill } from "../../src/conformance/index-filling.js";
