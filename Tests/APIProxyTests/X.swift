import APIProxy
