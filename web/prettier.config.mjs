// How all of web/ and tests/web is laid out; `npm run format` does it.
export default { printWidth: 120, arrowParens: "avoid" };
