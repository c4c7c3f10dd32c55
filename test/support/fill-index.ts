// Filling an index in a test, as the conformance suite does.
export { fill } from "../conformance/suites/index-filling.js";
