# A private MariaDB on $AGOGE_PORT: `start` keeps it in the foreground, `seed` fills it anew from shop.sql, `reset` puts back its rows, `show`
# prints its tables and rows.
here=$(dirname "$0")
# Its user may not enter the slot.
data=/tmp/agoge-mariadb-$AGOGE_PORT
client="mariadb --no-defaults --socket=$data/socket -u root"
case $1 in
  start)
    mkdir -p "$data/files"
    chown -R mysql "$data"
    trap 'kill -KILL $server; wait $server; rm -rf "$data"' EXIT
    trap exit INT TERM
    mariadb-install-db --no-defaults --user=mysql --datadir="$data/files" \
      --auth-root-authentication-method=normal --skip-test-db > "$data/install.log"
    # What is lost in a power cut is filled anew.
    mariadbd --no-defaults --innodb-flush-log-at-trx-commit=0 --skip-innodb-doublewrite --user=mysql \
      --datadir="$data/files" --socket="$data/socket" \
      --port="$AGOGE_PORT" --bind-address=127.0.0.1 --skip-name-resolve &
    server=$!
    wait $server
    ;;
  reset)
    # Much faster than new tables, which are needed only where a table came or went.
    $client shop 2> "$data/reset.log" << 'SQL' || sh "$0" seed
delimiter //
begin not atomic
  if (select group_concat(table_name order by table_name) from information_schema.tables where table_schema = 'shop')
    <> (select group_concat(table_name order by table_name) from information_schema.tables where table_schema = 'kept') then
    signal sqlstate '45000' set message_text = 'other tables';
  end if;
end//
delimiter ;
set foreign_key_checks = 0;
start transaction;
delete from customers; insert into customers select * from kept.customers;
delete from products; insert into products select * from kept.products;
delete from orders; insert into orders select * from kept.orders;
delete from order_items; insert into order_items select * from kept.order_items;
commit;
SQL
    ;;
  seed)
    # The database stays: a connection would lose it as its default.
    echo 'create database if not exists shop' | $client
    {
      echo 'set foreign_key_checks = 0;'
      echo "select concat('drop ', if(table_type = 'VIEW', 'view', 'table'), ' \`', table_name, '\`;') from information_schema.tables where table_schema = 'shop'" | $client -N
      echo 'set foreign_key_checks = 1;'
      cat "$here/shop.sql"
    } | $client shop
    # What `reset` puts back.
    {
      echo 'drop database if exists kept; create database kept;'
      for table in customers products orders order_items; do
        echo "create table kept.$table as select * from shop.$table;"
      done
    } | $client
    ;;
  show)
    # A JSON object with the rows of each table: one statement, made from the catalogue.
    $client -N -r shop << 'SQL'
set session group_concat_max_len = 10000000;
select concat('select json_object(', group_concat(concat(quote(name), ', json_query((select coalesce(json_arrayagg(json_object(', pairs, ') order by ', columns, '), json_array()) from `', name, '`), \'$\')')), ')')
from (
  select table_name as name,
    group_concat(quote(column_name), ', `', column_name, '`' order by ordinal_position) as pairs,
    group_concat('`', column_name, '`' order by ordinal_position) as columns
  from information_schema.columns where table_schema = database() group by table_name
) as tables into @statement;
prepare show_all from @statement;
execute show_all;
SQL
    ;;
esac
