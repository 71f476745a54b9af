// Builds and asks k-d trees of fixed and growing size, in each metric, of dimensions known and not.
#include <nanoflann.hpp>

#include <array>
#include <fstream>
#include <vector>

struct Cloud {
    std::vector<std::array<double, 3>> points;

    std::size_t kdtree_get_point_count() const { return points.size(); }
    double kdtree_get_pt(std::size_t at, std::size_t axis) const { return points[at][axis]; }
    template <class Box>
    bool kdtree_get_bbox(Box&) const {
        return false;
    }
};

template <class Tree>
void ask(Tree& tree) {
    const double query[3] = {0, 0, 0};
    std::uint32_t index[4];
    double distance[4];
    tree.knnSearch(query, 4, index, distance);
    std::vector<std::pair<std::uint32_t, double>> found;
    tree.radiusSearch(query, 1.0, found, nanoflann::SearchParams());
    nanoflann::KNNResultSet<double, std::uint32_t> set(4);
    set.init(index, distance);
    tree.findNeighbors(set, query, nanoflann::SearchParams());
    set.full();
    set.worstDist();
    nanoflann::RadiusResultSet<double, std::uint32_t> radius(1.0, found);
    tree.radiusSearchCustomCallback(query, radius, nanoflann::SearchParams());
    radius.worst_item();
}

template <class Metric, int Dimensions>
void still(Cloud& cloud) {
    using Tree = nanoflann::KDTreeSingleIndexAdaptor<Metric, Cloud, Dimensions>;
    Tree tree(3, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(10));
    tree.buildIndex();
    ask(tree);
    tree.usedMemory(tree);
    tree.size(tree);
    tree.veclen(tree);
    std::fstream file;
    tree.saveIndex(file);
    tree.loadIndex(file);
}

template <class Metric, int Dimensions>
void growing(Cloud& cloud) {
    nanoflann::KDTreeSingleIndexDynamicAdaptor<Metric, Cloud, Dimensions> tree(3, cloud);
    tree.addPoints(0, 3);
    tree.removePoint(1);
    const double query[3] = {0, 0, 0};
    std::size_t index[4];
    double distance[4];
    nanoflann::KNNResultSet<double> nearest(4);
    nearest.init(index, distance);
    tree.findNeighbors(nearest, query, nanoflann::SearchParams());
    std::vector<std::pair<std::size_t, double>> found;
    nanoflann::RadiusResultSet<double> within(1.0, found);
    tree.findNeighbors(within, query, nanoflann::SearchParams());
}

template <template <class...> class Metric>
void both(Cloud& cloud) {
    still<Metric<double, Cloud>, 3>(cloud);
    still<Metric<double, Cloud>, -1>(cloud);
    growing<Metric<double, Cloud>, 3>(cloud);
    growing<Metric<double, Cloud>, -1>(cloud);
}

void run(Cloud& cloud) {
    both<nanoflann::L2_Simple_Adaptor>(cloud);
    both<nanoflann::L2_Adaptor>(cloud);
    both<nanoflann::L1_Adaptor>(cloud);
    both<nanoflann::SO3_Adaptor>(cloud);
    both<nanoflann::SO2_Adaptor>(cloud);
}
