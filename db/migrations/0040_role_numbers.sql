-- The numbers of predefined roles as Run:ai has them, so that a script that grants role 8 grants the same there and
-- here. In two steps: a person may hold two roles that change places.
CREATE TEMP TABLE role_numbers (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
INSERT INTO role_numbers VALUES (3, 14), (4, 16), (5, 17), (6, 18), (7, 3), (8, 4), (9, 5), (10, 8), (11, 6), (12, 7),
    (13, 12), (14, 9), (15, 11), (16, 10), (17, 13), (18, 15);
UPDATE access_rules SET role_id = -(SELECT new FROM role_numbers WHERE old = role_id)
    WHERE role_id IN (SELECT old FROM role_numbers);
UPDATE access_rules SET role_id = -role_id WHERE role_id < 0;
DROP TABLE role_numbers;
