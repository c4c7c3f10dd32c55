// Where the page begins.
import { createRoot } from "react-dom/client";
import { Page } from "./page.js";
import "./page.css";

const root = document.getElementById("page");
if (root !== null) createRoot(root).render(<Page />);
