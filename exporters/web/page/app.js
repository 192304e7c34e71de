// app - show what the server answers.
// SPDX-License-Identifier: MIT
const given = /^#k=([\w-]+)$/.exec(location.hash);
if (given) {
	sessionStorage.setItem("token", given[1]);
	history.replaceState(null, "", location.pathname);
}
const answer = await fetch("v1/status", {
	headers: { Authorization: "Bearer " + sessionStorage.getItem("token") },
});
const text = document.createElement("pre");
text.textContent = await answer.text();
document.getElementById("main").replaceChildren(text);
