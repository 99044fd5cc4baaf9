"""A server of one page that speaks VasSonic's protocol, by regular expressions as VasSonic's own servers do.

usage: pages.py

Prints `listening on URL`. /live/page is the page; /live/show?template=T&body=B&cart=N changes it, and with &hold=1 the next answer
waits until /live/go was asked for; /live/asked tells the requests for the page, a line each: its tag, or `first`, or `plain`.
"""
import hashlib, itertools, http.server, json, re, threading, urllib.parse

BLOCK = re.compile(r'<!--sonicdiff-?(\w*)-->[\s\S]+?<!--sonicdiff-?\w*-end-->', re.I)
TITLE = re.compile(r'<title.*?</title>', re.I)
go = threading.Event()
go.set()
state = dict(template='shop', body='table', cart='1')
asked = []
UNNAMED = '<!--sonicdiff-->{cart}<!--sonicdiff-end-->'
# What stands in the page, by name.
BODIES = dict(
    table='<table><tbody><!--sonicdiff-cart--><tr><td id="cart">{cart}</td></tr><script>window.ran = {cart}</script>'
          '<!--sonicdiff-cart-end--></tbody></table>',
    # An end of any name ends a block: " articles" is of the template.
    nested='<p id="cart"><!--sonicdiff-cart-->{cart} <!--sonicdiff-in-->x<!--sonicdiff-in-end--> articles<!--sonicdiff-cart-end--></p>',
    crossing='<p id="cart"><!--sonicdiff-cart--><b>{cart} <!--sonicdiff-in-->x<!--sonicdiff-in-end--> articles</b>'
             '<!--sonicdiff-cart-end--></p>',
    unnamed='<p id="ad"><!--sonicdiff-->ad<!--sonicdiff-end--></p><p><!--sonicdiff-word-->word<!--sonicdiff-word-end--></p>'
            f'<p id="cart">{UNNAMED}</p>',
    hidden=f'<noscript><!--sonicdiff-->0<!--sonicdiff-end--></noscript><p id="cart">{UNNAMED}</p>'
           '<p><!--sonicdiff-->0<!--sonicdiff-end--></p>',
    # What is made of a block's text is HTML, and no text of a drawing.
    drawing='<svg id="cart"><!--sonicdiff-cart--><text>{cart}</text><!--sonicdiff-cart-end--></svg>',
    titled=f'<svg><title>a drawing</title></svg><p id="cart">{UNNAMED}</p>',
    # As many comments as marks, and not in their order.
    stamped=f'<template><!--sonicdiff-->0<!--sonicdiff-end--></template><p id="cart">{UNNAMED}</p>'
            '<script>document.body.append(document.querySelector("template").content.cloneNode(true))</script>',
)


def sha1(text):
    return hashlib.sha1(text.encode()).hexdigest()


def page():
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Cart {state["cart"]}</title>'
            '<link rel="icon" href="data:,"><script src="/__patchline/page.js"></script></head>'
            f'<body><h1>{state["template"]}</h1>{BODIES[state["body"]].replace("{cart}", state["cart"])}</body></html>')


def split(html, title):
    """The template, and the blocks by what stands in it for them."""
    blocks, numbers = {}, itertools.count()

    def hole(match):
        name = f'{{{match[1] or f"auto{next(numbers)}"}}}'
        blocks[name] = match[0]
        return name

    return BLOCK.sub(hole, html.replace(title, '{title}')), blocks


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def reply(self, status, body, *fields):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        values = dict(urllib.parse.parse_qsl(url.query))
        if url.path == '/live/page':
            return self.page()
        if url.path == '/live/show':
            state.update(values)
            if 'hold' in values:
                go.clear()
        if url.path == '/live/go':
            go.set()
        self.reply(200, '\n'.join(asked).encode(), ('Content-Type', 'text/plain'))

    def page(self):
        html, tag = page(), self.headers.get('If-None-Match')
        speaks = self.headers.get('accept-diff') == 'true'
        asked.append((tag or 'first') if speaks else 'plain')
        if not go.wait(300):
            return
        kind = ('Content-Type', 'text/html; charset=utf-8')
        if not speaks:
            return self.reply(200, html.encode(), kind)
        title = TITLE.search(html)[0]
        template, blocks = split(html, title)
        fields = [kind, ('ETag', sha1(html)), ('template-tag', sha1(template)), ('Cache-Offline', 'true')]
        if tag == sha1(html):
            return self.reply(304, b'', *fields)
        if self.headers.get('template-tag') != sha1(template):
            return self.reply(200, html.encode(), *fields, ('template-change', 'true'))
        data = {'data': {'{title}': title} | blocks, 'diff': '', 'html-sha1': sha1(html), 'template-tag': sha1(template)}
        self.reply(200, json.dumps(data).encode(), *fields, ('template-change', 'false'))


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Server)
print(f'listening on http://127.0.0.1:{server.server_port}', flush=True)
server.serve_forever()
