// Serves the pages beside this file as http://shop.example, as a proxy on $AGOGE_PORT. No other host is reached.
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

const types = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript' }

createServer((request, response) => {
  const { hostname, pathname } = new URL(request.url, 'http://none')
  if (hostname !== 'shop.example') {
    request.socket.destroy()
    return
  }
  const file = fileURLToPath(new URL(`.${pathname === '/' ? '/index.html' : pathname}`, import.meta.url))
  const type = types[extname(file)]
  if (pathname === '/favicon.ico') response.writeHead(204).end()
  else if (type === undefined || !existsSync(file)) response.writeHead(404).end('There is no such page.')
  else response.writeHead(200, { 'content-type': type }).end(readFileSync(file))
}).listen(Number(process.env.AGOGE_PORT), '127.0.0.1')
