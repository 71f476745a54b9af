// Instantiates Armadillo's matrices, cubes, sparse matrices, decompositions and files.
#include <armadillo>

#include <complex>
#include <iostream>
#include <sstream>

using namespace arma;

template <class M>
void dense(M a) {
    using T = typename M::elem_type;
    M b(4, 4, fill::randu), c = a + b, d = a * b;
    c = a - b % a / b + T(2) * a;
    c += a;
    c -= a * b;
    c *= T(3);
    c %= b;
    c /= b;
    c = a.t() * b.t();
    c = trans(a) + strans(b) + inv(a) + pinv(b);
    a.row(0) = b.row(1);
    a.col(0) += b.col(1);
    a.rows(0, 1).zeros();
    a.submat(0, 0, 1, 1).fill(T(1));
    a.diag() = b.diag();
    a.diag().ones();
    a.each_col() += b.col(0);
    a.each_row() %= b.row(0);
    a.head_rows(2) = b.tail_rows(2);
    a.insert_cols(1, b);
    a.shed_row(0);
    a.reshape(4, 4);
    a.resize(5, 5);
    a.swap_rows(0, 1);
    a.transform([](T x) { return x * x; });
    a.for_each([](T& x) { x += T(1); });
    a.randn();
    a.eye();
    a.set_size(4, 4);
    a.elem(find(abs(b) > 0.5)).zeros();
    c = join_rows(a, b);
    c = join_cols(a, b);
    c = kron(a, b);
    c = repmat(a, 2, 2);
    c = reshape(a, 2, 8);
    c = diagmat(a);
    c = trimatu(a) + trimatl(a) + symmatu(a);
    c = exp(a) + log(a) + sqrt(a) + square(a) + pow(a, 2) + sin(a) + cos(a) + tanh(a);
    c = flipud(a) + fliplr(a) + shift(a, 1);
    std::cout << a << accu(a) << sum(a) << mean(a) << stddev(a) << var(a) << norm(a) << norm(a, 1) << trace(a) << det(a) << rank(a)
              << dot(a.col(0), b.col(0)) << cond(a) << prod(a) << cumsum(a) << median(a);
    std::cout << as_scalar(a.row(0) * b.col(0)) << a.is_square() << a.n_elem << approx_equal(a, b, "absdiff", 0.1);
    M x = solve(a, b), q, r, l, u, p;
    qr(q, r, a);
    lu(l, u, p, a);
    x = chol(a);
    M s, v;
    Col<typename M::pod_type> values;
    svd(s, values, v, a);
    (void)svd(a);
    svd_econ(s, values, v, a);
    x = orth(a) + null(a);
    x = expmat(a);
    x = logmat(a).eval().is_empty() ? a : b;
    std::stringstream text;
    a.save(text, csv_ascii);
    a.load(text, arma_binary);
    a.save("a.bin");
    a.load("a.bin", auto_detect);
    a.print("a");
    a.raw_print(std::cout);
    for (auto it = a.begin(); it != a.end(); ++it) {
        *it = T(0);
    }
    for (auto it = a.begin_row(0); it != a.end_row(0); ++it) {
        *it = T(0);
    }
}

void real(mat a) {
    vec values = linspace(0, 1, 10), sorted = sort(values, "descend");
    uvec order = sort_index(values), found = find(values > 0.5, 2), some = unique(order);
    mat vectors;
    eig_sym(values, vectors, a);
    cx_vec complex_values;
    cx_mat complex_vectors;
    eig_gen(complex_values, complex_vectors, a);
    mat u, s, h;
    schur(u, s, a);
    hess(u, h, a);
    qz(u, s, h, vectors, a, a);
    mat coefficients, score;
    vec latent;
    princomp(coefficients, score, latent, a);
    mat means;
    kmeans(means, a, 2, random_subset, 10, false);
    gmm_diag model;
    model.learn(a, 2, eucl_dist, random_subset, 10, 5, 1e-10, false);
    (void)model.log_p(a.col(0));
    running_stat<double> stats;
    stats(1.0);
    (void)stats.mean();
    running_stat_vec<vec> vector_stats;
    vector_stats(values);
    (void)vector_stats.cov();
    vec p = polyfit(values, values, 2), q = polyval(p, values);
    vec y;
    interp1(values, values, values, y);
    cx_vec f = fft(values), g = ifft(f);
    cx_mat f2 = fft2(a);
    vec c = conv(values, values);
    mat c2 = conv2(a, a), cc = cor(a) + cov(a);
    (void)trapz(values, values);
    (void)hist(values, 5);
    (void)histc(values, values);
    (void)cross(vec{1, 2, 3}, vec{4, 5, 6});
    (void)normalise(a);
    (void)any(values > 0.5);
    (void)all(values > 0.5);
    (void)max(a);
    (void)a.max();
    (void)index_max(values);
    (void)range(values);
    (void)clamp(a, 0, 1);
    (void)regspace(0, 2, 10);
    (void)randi(4, 4, distr_param(0, 5));
    (void)toeplitz(values);
    arma_rng::set_seed(1);
}

void cubes() {
    cube q(3, 4, 2, fill::randu), r = q + q * 2.0 - q % q;
    q.slice(0) = r.slice(1);
    q.tube(0, 0) = r.tube(1, 1);
    q.each_slice() += mat(3, 4, fill::ones);
    q.subcube(0, 0, 0, 1, 1, 1).fill(2.0);
    r = join_slices(q, r);
    std::cout << q << accu(q) << sum(q, 2) << mean(q, 0) << max(q, 1);
    q.reshape(4, 3, 2);
    q.insert_slices(0, r);
    q.shed_slice(0);
    q.for_each([](double& x) { x += 1; });
    q.save("q.bin");
    field<mat> cells(2, 3);
    cells(0, 0) = mat(2, 2);
    cells.for_each([](mat& m) { m.zeros(); });
    cells.print();
    field<std::string> names(2);
    names.save("n.txt");
}

void sparse() {
    sp_mat a = sprandu<sp_mat>(10, 10, 0.3), b = a.t() * a + speye<sp_mat>(10, 10) * 2.0;
    a(1, 2) = 3.0;
    a += b;
    a = a - b % a;
    mat d(10, 10, fill::randu), e = a * d + d * b;
    sp_mat c = a.submat(0, 0, 4, 4);
    c = a.cols(0, 3);
    std::cout << a << accu(a) << trace(a) << norm(a, 1) << sum(a) << mean(a) << a.n_nonzero << max(a);
    for (auto it = a.begin(); it != a.end(); ++it) {
        std::cout << *it << it.row() << it.col();
    }
    umat places = {{0, 1}, {1, 2}};
    sp_mat from(places, vec{1, 2}, 10, 10);
    (void)sqrt(from);
    (void)abs(from);
    (void)trimatl(from);
    (void)diagmat(from);
    (void)kron(from, from);
    (void)join_rows(from, from);
    a.save("a.coo", coord_ascii);
}

void run(mat a, cx_mat z, fmat f) {
    dense(a);
    dense(f);
    dense(z);
    real(a);
    cubes();
    sparse();
}
