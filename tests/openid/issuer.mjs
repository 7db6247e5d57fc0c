// An OpenID provider for tests: oidc-provider (certified) on a free port of 127.0.0.1, with people and groups that tests
// change by requests to /test/..., and with ways to be wrong. It says where it is on standard output.
//   node issuer.mjs
import { createServer } from "node:http";
import { createHmac, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import Provider from "oidc-provider";

let redirectUrl = "http://127.0.0.1:9/";
const everybody = () => ({ ann: { sub: "ann", email: "ann@lab.example", email_verified: true, groups: ["gpu-users"] }, bob: { sub: "bob", email: "bob@lab.example", email_verified: true, groups: [] } });
const none = { token: null, delay_ms: 0, down: false, userinfo: false, norefresh: false, discovery: null, login: "ann" };
let people = everybody();
const trouble = { ...none };
const rsa = kid => ({ ...generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" }), kid, use: "sig", alg: "RS256" });
const point = kid => ({ ...generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }), kid, use: "sig", alg: "ES256" });
let keys = [rsa("first"), point("point")];
const stranger = rsa("first"); // the same id, another key

const server = createServer();
await new Promise(ready => server.listen(0, "127.0.0.1", ready));
const own = `http://127.0.0.1:${server.address().port}`;
const issuer = process.env.ISSUER_URL ?? own; // behind what ends TLS: its address

const client = (client_id, more = {}) => ({
  client_id,
  client_secret: "a secret: with/odd characters%&",
  redirect_uris: [redirectUrl],
  post_logout_redirect_uris: [new URL("/", redirectUrl).href],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  id_token_signed_response_alg: "RS256",
  ...more,
});

function make() {
  const provider = new Provider(issuer, {
    clients: [client("prorata"), client("points", { id_token_signed_response_alg: "ES256" }), client("public", { client_secret: undefined, token_endpoint_auth_method: "none" })],
    jwks: { keys },
    claims: { openid: ["sub"], email: ["email", "email_verified"], groups: ["groups"], profile: ["name"] },
    scopes: ["openid", "offline_access", "email", "groups", "profile"],
    conformIdTokenClaims: false,
    pkce: { required: () => true, methods: ["S256"] },
    issueRefreshToken: async (_, c) => c.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    cookies: { keys: ["for tests"] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true, logoutSource } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, id) =>
      people[id] && { accountId: id, claims: async use => (trouble.userinfo && use === "id_token" ? { sub: people[id].sub } : { ...people[id] }) },
    loadExistingGrant: async ctx => {
      const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
      grant.addOIDCScope("openid email groups profile offline_access");
      await grant.save();
      return grant;
    },
    ttl: { AccessToken: 300, IdToken: 300, RefreshToken: 3600, Session: 3600, Interaction: 600, Grant: 3600, AuthorizationCode: 60 },
    renderError: async (ctx, out) => {
      ctx.type = "json";
      ctx.body = out;
    },
  });
  provider.proxy = issuer.startsWith("https");
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path === "/token" && ctx.body?.id_token && trouble.token) ctx.body.id_token = spoil(ctx.body.id_token);
    if (ctx.path === "/token" && trouble.norefresh) delete ctx.body.refresh_token;
  });
  return provider;
}
let provider = make();

async function logoutSource(ctx, form) {
  ctx.body = `<!doctype html><title>Sign out</title><p id=out>Sign out?</p>${form}<button form="op.logoutForm" name="logout" value="yes">Yes</button>`;
}

// The token with what a test wants wrong in it, signed as it wants.
function spoil(token) {
  const decode = text => JSON.parse(Buffer.from(text, "base64url"));
  const encode = value => Buffer.from(JSON.stringify(value)).toString("base64url");
  const [head, body] = token.split(".");
  const { claims = {}, drop = [], header = {}, with: how } = trouble.token;
  const all = { ...decode(body), ...claims };
  for (const name of drop) delete all[name];
  const text = `${encode({ ...decode(head), ...header })}.${encode(all)}`;
  if (how === "none") return `${text}.`;
  if (how === "public key as a MAC") return `${text}.${createHmac("sha256", JSON.stringify(keys[0].n)).update(text).digest("base64url")}`;
  if (how === "cut") return token.slice(0, -8);
  const key = how === "stranger" ? stranger : (keys.find(k => k.kid === decode(head).kid) ?? keys[0]);
  return `${text}.${sign("sha256", Buffer.from(text), { key, format: "jwk" }).toString("base64url")}`;
}

const answer = (response, body) => response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body ?? {}));
const bodyOf = async request => JSON.parse((await request.toArray()).join("") || "{}");

// /test/reset {redirectUrl}: everything as at the start; /test/person {id, ...}: changes a person, or takes one away; /test/trouble: ways to be wrong; /test/keys: other keys.
async function control(request, response) {
  const body = await bodyOf(request);
  if (request.url === "/test/reset") {
    redirectUrl = body.redirectUrl;
    people = everybody();
    Object.assign(trouble, none);
    provider = make();
  } else if (request.url === "/test/person") {
    if (body.gone) delete people[body.id];
    else people[body.id] = { sub: body.id, email_verified: true, ...people[body.id], ...body };
  } else if (request.url === "/test/trouble") Object.assign(trouble, { ...none, login: trouble.login }, body);
  else if (request.url === "/test/keys") {
    keys = [rsa(randomUUID()), point(randomUUID())];
    provider = make();
  }
  answer(response);
}

// Whoever /test/trouble names as login is signed in without a form.
async function interact(request, response) {
  await provider.interactionFinished(request, response, { login: { accountId: trouble.login } }, { mergeWithLastSubmission: false });
}

server.on("request", async (request, response) => {
  if (request.url.startsWith("/test/")) return control(request, response);
  if (trouble.delay_ms) await new Promise(done => setTimeout(done, trouble.delay_ms));
  if (trouble.down) return response.writeHead(500).end();
  if (trouble.discovery && request.url.startsWith("/.well-known/")) return answer(response, trouble.discovery);
  if (request.url.startsWith("/interaction/")) return interact(request, response);
  return provider.callback()(request, response);
});
console.log(own);
