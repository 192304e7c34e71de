/*
 * views - when a view was painted first, and had its data on the screen.
 *
 *	node views.mjs DIR ADDRESS CHROMIUM FRAGMENT
 *
 * SPDX-License-Identifier: MIT
 */
import { enter, finish, newPage, opened, origin, watch, words } from "../web/judge.mjs";

const page = await newPage({ viewport: { width: 1280, height: 800 } });
await enter(page);
await page.goto(origin + "/" + words[0]);
await watch(page);
await page.reload();
console.log(await opened(page));
await finish();
