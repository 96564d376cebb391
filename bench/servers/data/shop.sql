-- A small shop, for SQLite, PostgreSQL and MariaDB alike.
create table customers (id integer primary key, name varchar(60) not null, city varchar(40) not null, email varchar(80));
create table products (id integer primary key, name varchar(60) not null, category varchar(30) not null, price integer not null, stock integer not null);
create table orders (id integer primary key, customer_id integer not null references customers (id), ordered_on date not null, status varchar(20) not null);
create table order_items (order_id integer not null references orders (id), product_id integer not null references products (id), quantity integer not null, primary key (order_id, product_id));

insert into customers (id, name, city, email) values
  (1, 'Ada Lovelace', 'London', 'ada@example.com'),
  (2, 'Alan Turing', 'Manchester', 'alan@example.com'),
  (3, 'Grace Hopper', 'New York', 'grace@example.com'),
  (4, 'Katherine Johnson', 'Hampton', null),
  (5, 'Edsger Dijkstra', 'Rotterdam', 'edsger@example.com'),
  (6, 'Barbara Liskov', 'Boston', 'barbara@example.com'),
  (7, 'Emmy Noether', 'Erlangen', null),
  (8, 'Donald Knuth', 'Stanford', 'don@example.com'),
  (9, 'Radia Perlman', 'Boston', 'radia@example.com'),
  (10, 'Tim Berners-Lee', 'London', 'tim@example.com');
insert into products (id, name, category, price, stock) values
  (1, 'Oak desk', 'furniture', 349, 4),
  (2, 'Desk lamp', 'lighting', 45, 22),
  (3, 'Office chair', 'furniture', 189, 9),
  (4, 'Notebook', 'paper', 6, 210),
  (5, 'Fountain pen', 'writing', 58, 17),
  (6, 'Blue ink', 'writing', 12, 64),
  (7, 'Bookshelf', 'furniture', 129, 6),
  (8, 'Wall clock', 'decoration', 39, 13),
  (9, 'Floor lamp', 'lighting', 99, 8),
  (10, 'Paper clips', 'paper', 3, 480);
insert into orders (id, customer_id, ordered_on, status) values
  (1, 1, '2026-01-14', 'delivered'),
  (2, 3, '2026-01-30', 'delivered'),
  (3, 2, '2026-02-11', 'cancelled'),
  (4, 5, '2026-03-02', 'delivered'),
  (5, 1, '2026-03-19', 'shipped'),
  (6, 8, '2026-04-05', 'shipped'),
  (7, 9, '2026-04-06', 'open'),
  (8, 4, '2026-04-21', 'open'),
  (9, 10, '2026-05-08', 'open');
insert into order_items (order_id, product_id, quantity) values
  (1, 1, 1), (1, 2, 2), (2, 5, 1), (2, 6, 3), (3, 3, 1), (4, 7, 2), (5, 4, 12),
  (6, 9, 1), (6, 2, 1), (7, 10, 5), (8, 3, 4), (8, 8, 1), (9, 4, 20), (9, 5, 2);
