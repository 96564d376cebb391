# A private MariaDB on $AGOGE_PORT: `start` keeps it in the foreground, `seed` fills it anew from shop.sql, `show` prints its tables and rows.
here=$(dirname "$0")
# Its user may not enter the slot.
data=/tmp/agoge-mariadb-$AGOGE_PORT
client="mariadb --no-defaults --socket=$data/socket -u root"
case $1 in
  start)
    mkdir -p "$data/files"
    chown -R mysql "$data"
    trap 'kill $server; wait $server; rm -rf "$data"' EXIT
    trap exit INT TERM
    mariadb-install-db --no-defaults --user=mysql --datadir="$data/files" \
      --auth-root-authentication-method=normal --skip-test-db > "$data/install.log"
    mariadbd --no-defaults --user=mysql --datadir="$data/files" --socket="$data/socket" \
      --port="$AGOGE_PORT" --bind-address=127.0.0.1 --skip-name-resolve &
    server=$!
    wait $server
    ;;
  seed)
    echo 'drop database if exists shop; create database shop' | $client
    $client shop < "$here/shop.sql"
    ;;
  show)
    mariadb-dump --no-defaults --socket="$data/socket" -u root --compact --order-by-primary shop
    ;;
esac
