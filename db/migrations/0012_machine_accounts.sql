-- Accounts of this machine's own people, who come by its Unix socket. NULL: an administrator made the account.
ALTER TABLE users ADD COLUMN machine_uid INTEGER;
-- Which user of this machine submitted it himself, by the socket, as NAME:NUMBER: its pods run as him. '': nobody did.
ALTER TABLE workloads ADD COLUMN machine_user TEXT NOT NULL DEFAULT '';
