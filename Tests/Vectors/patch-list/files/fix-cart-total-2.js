cart.total = 0;
